/** Returns the folder of the bundled dashboard; undefined where it cannot be made. */
export function prepareDashboard(root: string, bun: string): Promise<string | undefined>
