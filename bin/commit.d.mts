/** Returns the first 12 digits of a checkout's commit; undefined where it is unknown. */
export function findCommit(
  root: string,
  environment?: Readonly<Record<string, string | undefined>>,
): string | undefined

/** Appends the commit to a version, as its build metadata: `0.6.0+41fc8a0c32f1`. */
export function toBuildVersion(version: string, commit: string | undefined): string
