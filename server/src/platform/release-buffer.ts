/**
 * Frees the memory of a piece at once, rather than when garbage is collected. The piece and all views of it are
 * empty afterwards: nothing may use them any more, least of all a write that has not ended. Memory that the piece
 * shares with others is kept.
 */
export function releaseBuffer({ buffer, byteLength }: Uint8Array): void {
  // Detaching moves the memory into a buffer of its own, which has no bytes.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
