/** Sends data in the order in which it came and `delayMs` later, though a shorter delay may be set meanwhile. */
export function delayedSender(
  send: (data: Buffer) => void,
  wire: { readonly delayMs: number },
): (data: Buffer) => void {
  /** Received data that is delayed, oldest first. */
  const delayed: Buffer[] = []
  const sendNext = () => {
    const [next] = delayed.splice(0, 1)
    if (next) send(next)
  }
  return (data) => {
    // The caller may use the memory again.
    delayed.push(Buffer.from(data))
    if (wire.delayMs === 0 && delayed.length === 1) sendNext()
    else setTimeout(sendNext, wire.delayMs)
  }
}
