/** The minimum length that the server enforces. */
export const leastPassword = 10

/** Returns the error of a new password, or null. */
export const passwordProblem = (password: string): string | null =>
  password.length < leastPassword ? `Use at least ${leastPassword} characters` : null
