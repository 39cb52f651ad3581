import { z } from 'zod'

const megabyte = 1024 * 1024

export const loadVariables = {
  LARGE_BODIES_MB: z.coerce.number().int().min(32).max(65_536).default(48),
  MOST_RUNNING_REQUESTS: z.coerce.number().int().min(0).max(1_000_000).default(16_384),
  OWNER_CPU_PERCENT: z.coerce.number().min(1).max(100).default(15),
  MOST_LOOP_DELAY_MS: z.coerce.number().min(0).max(60_000).default(500),
}

/** How much one process takes on at the same time. */
export interface LoadConfig {
  /** The bytes that large bodies of requests may have together until they are sent on. */
  largeBodiesBytes: number
  /** Requests to models; beyond it new ones are refused. 0 for no bound. */
  mostRunning: number
  /** By how much the event loop may be late all the time; beyond it a part is refused. 0 for no bound. */
  mostLoopDelayMs: number
  /** The part of the event loop's time that one owner has while others are active; 1 for all of it. */
  ownerShare: number
}

const Variables = z.object(loadVariables)

export const toLoadConfig = (env: z.output<typeof Variables>): LoadConfig => ({
  largeBodiesBytes: env.LARGE_BODIES_MB * megabyte,
  mostRunning: env.MOST_RUNNING_REQUESTS,
  mostLoopDelayMs: env.MOST_LOOP_DELAY_MS,
  ownerShare: env.OWNER_CPU_PERCENT / 100,
})
