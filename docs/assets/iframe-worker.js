// Browsers allow no workers on pages that are opened from a disk. There, the search of the site runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "Search"
      this.ready = new Promise((resolve) => {
        frame.onload = () => {
          const inside = frame.contentWindow
          // What the script of the worker sends goes to the page, not to its own frame.
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
          const script = inside.document.createElement("script")
          script.src = new URL(url, location.href).href
          script.onload = () => resolve(inside)
          inside.document.body.append(script)
        }
      })
      document.body.append(frame)
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
