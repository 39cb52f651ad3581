/** As the server asks for it. */
export const leastPassword = 10

/** What is wrong with a new password; null for nothing. */
export const passwordProblem = (password: string): string | null =>
  password.length < leastPassword ? `Use at least ${leastPassword} characters` : null
