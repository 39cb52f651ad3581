import { z } from 'zod'

const most = 64

/** The variables of several processes on one machine, for the schema of the environment. */
export const workerVariables = {
  WORKERS: z.coerce.number().int().min(1).max(most).default(1),
  TOLLGATE_WORKER: z.coerce.number().int().min(1).max(most).optional(),
}

/** The number of processes that serve the one port. */
export interface WorkerConfig {
  workers: number
  /** The number of this worker, from 1; undefined for a single server and for the process that starts workers. */
  worker: number | undefined
}

const Variables = z.object(workerVariables)

export const toWorkerConfig = (env: z.output<typeof Variables>): WorkerConfig => ({
  workers: env.WORKERS,
  worker: env.TOLLGATE_WORKER,
})
