import { z } from 'zod'

const megabyte = 1024 * 1024

export const loadVariables = {
  LARGE_BODIES_MB: z.coerce.number().int().min(32).max(65_536).default(48),
  MOST_RUNNING_REQUESTS: z.coerce.number().int().min(0).max(1_000_000).default(16_384),
  OWNER_CPU_PERCENT: z.coerce.number().min(1).max(100).default(15),
  MOST_LOOP_DELAY_MS: z.coerce.number().min(0).max(60_000).default(500),
}

/** The load limits of one process. */
export interface LoadConfig {
  /** The most bytes that large request bodies may hold together until they are sent upstream. */
  largeBodiesBytes: number
  /** The most concurrent requests to models; beyond it new ones are rejected. 0 for no limit. */
  mostRunning: number
  /** The longest sustained delay of the event loop; beyond it a part of the requests is rejected. 0 for no limit. */
  mostLoopDelayMs: number
  /** The largest share of the event loop's time for one owner while others are active; 1 for all of it. */
  ownerShare: number
}

const Variables = z.object(loadVariables)

export const toLoadConfig = (env: z.output<typeof Variables>): LoadConfig => ({
  largeBodiesBytes: env.LARGE_BODIES_MB * megabyte,
  mostRunning: env.MOST_RUNNING_REQUESTS,
  mostLoopDelayMs: env.MOST_LOOP_DELAY_MS,
  ownerShare: env.OWNER_CPU_PERCENT / 100,
})
