/** The default load limits of a process. */
export const usualLoad = {
  largeBodiesBytes: 48 << 20,
  uploadsBytes: 2 ** 31,
  maxRunning: 16_384,
  maxLoopDelayMs: 500,
  ownerShare: 0.15,
}

/** Values of the load limit variables that are rejected. */
export const badLoad: Record<string, string[]> = {
  LARGE_BODIES_MB: ['31', '32.5', '65537', 'all'],
  UPLOADS_MB: ['63', '64.5', '1048577', 'all'],
  MOST_RUNNING_REQUESTS: ['-1', '1.5', '1000001', 'many'],
  MOST_LOOP_DELAY_MS: ['-1', '60001', 'late'],
  FAILED_AUTHENTICATIONS_PER_MINUTE: ['0', '1.5', 'none'],
  DATABASE_POOL_SIZE: ['1', '501', 'many'],
}
