import type { FromLauncher } from './messages'

/**
 * Sends a message to a worker; returns whether its process was there. It may end at any moment, some time before its end is
 * reported: then it needs no message.
 */
export function sendToWorker(
  child: Pick<Bun.Subprocess, 'send'> | undefined,
  message: FromLauncher,
): boolean {
  try {
    child?.send(message)
    return child !== undefined
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'ERR_IPC_CHANNEL_CLOSED') return false
    throw thrown
  }
}
