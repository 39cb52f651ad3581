/** The minimum length that the server enforces. */
export const minPassword = 10

/** Returns the error of a new password, or null. */
export const passwordProblem = (password: string): string | null =>
  password.length < minPassword ? `Use at least ${minPassword} characters` : null
