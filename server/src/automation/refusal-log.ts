import type { Context } from 'hono'
import { ApiError } from '../errors'
import type { GatewayPorts } from '../gateway/ports'
import type { Env } from '../http/env'
import { callOf } from '../v1/model-call'

/** Begins the logs of requests. */
export type SessionLogs = Pick<GatewayPorts['logs'], 'begin'>

/** A request of a session. */
interface SessionRequest {
  c: Context<Env>
  logs: SessionLogs
  /** The model that it names. */
  modelId: string | undefined
}

/**
 * Runs a request of a session, and logs it where it is refused before a model call has a log of its own: its caller
 * looks for the reason where those of all refused model calls are. Rejects as `run` does.
 */
export async function logRefusal<Result>(
  { c, logs, modelId = '' }: SessionRequest,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run()
  } catch (thrown) {
    if (thrown instanceof ApiError) {
      const log = logs.begin(callOf(c), { ...c.var.principal, logBodies: false })
      log.read({ model: modelId })
      log.refuse({ outcome: thrown.code, error: thrown })
      c.set('hasLog', true)
    }
    throw thrown
  }
}
