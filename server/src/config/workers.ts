import { z } from 'zod'

const most = 64

/** The variables of several processes on one machine, for the environment's schema. */
export const workerVariables = {
  WORKERS: z.coerce.number().int().min(1).max(most).default(1),
  TOLLGATE_WORKER: z.coerce.number().int().min(1).max(most).optional(),
}

/** How many processes answer on the one port. */
export interface WorkerConfig {
  workers: number
  /** Which of them this is, from 1; undefined for a server by itself, and for whoever starts workers. */
  worker: number | undefined
}

const Variables = z.object(workerVariables)

export const toWorkerConfig = (env: z.output<typeof Variables>): WorkerConfig => ({
  workers: env.WORKERS,
  worker: env.TOLLGATE_WORKER,
})
