"""Make room for more labels in a model that has been trained."""

from thinc.api import Model

from ._types import Array


def copy_params(model: Model, larger: Model) -> Model:
    """Initialize a model and copy the parameters of one with fewer labels into it. Labels are the first axis of
    every parameter that depends on their number.

    model (Model): The model to copy from.
    larger (Model): The same layer with more labels and all its dimensions set.
    RETURNS (Model): The larger model. Its new labels are untrained.
    """
    larger.initialize()
    for name in model.param_names:
        old: Array = model.get_param(name)
        new: Array = larger.get_param(name)
        new[: len(old)] = old
    return larger
