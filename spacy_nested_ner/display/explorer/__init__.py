"""The explorer: a page in the browser where a pipeline can be tried, looked into and corrected.

Without a web framework:
    scoring.py      texts and the scores of their spans: the network runs once per text
    settings.py     with which decoder, threshold and temperature the scores are decoded
    view.py         an analysis: mentions, heat map, alternatives, competing analyses, errors
    comparison.py   the three decoders, where they differ
    sentences.py    a corpus, sentence by sentence, with errors and entropies
    corrections.py  documents that train as incomplete annotation
    exports.py      an analysis as text: brackets, JSON, Python
    drawings.py     views as drawings
    messages.py     what is sent and received
    desk.py         answers to requests, with drawings

With FastAPI:
    limits.py       which requests are refused
    server.py       the endpoints
    serving.py      a socket, uvicorn and a browser
    static/         the page
"""
