import { Hono } from 'hono'
import type { Env } from './env'
import type { Guards } from './guards'
import { ApiError } from '../errors'

/** Whether a load balancer should send requests, and the state of each part by name. */
export type Readiness = () => Promise<{ isReady: boolean; checks: Record<string, boolean> }>

/** `/healthz` while the process runs, `/readyz` while it can serve. Source: contract 9.5. */
export const serviceRoutes = (guards: Guards, readiness: Readiness) =>
  new Hono<Env>()
    .get('/healthz', guards.open, (c) => c.json({ status: 'ok' }))
    .get('/readyz', guards.open, async (c) => {
      const { isReady, checks } = await readiness()
      if (isReady) return c.json({ status: 'ready', checks })
      throw new ApiError('gateway_unavailable', {
        message: 'The gateway is not ready.',
        details: { checks },
        retryAfterSeconds: 2,
      })
    })
