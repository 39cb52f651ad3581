/** Returns one sentence about arguments that `parseArgs` refused: its own advice is about arguments that begin with a dash. */
export function formatArgumentError(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return `${message.split(/\.\s|\.$/)[0] ?? message}.`
}
