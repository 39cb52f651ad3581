/** Loaded before a gateway: from a SIGUSR2 on its event loop is held nearly all the time, until the next one. */
const heldMs = 500
let isHeld = false

function hold(): void {
  if (!isHeld) return
  const endMs = performance.now() + heldMs
  while (performance.now() < endMs);
  setTimeout(hold, 1)
}

process.on('SIGUSR2', () => {
  isHeld = !isHeld
  hold()
})
