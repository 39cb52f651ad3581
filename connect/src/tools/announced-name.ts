import { UsageError } from '../text'

const maxLength = 64

/** Returns a tool's name as models see it: `<server>_<tool>`, with allowed characters only. */
export const announcedName = (server: string, tool: string): string =>
  `${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, maxLength)

interface Named {
  name: string
  allow: readonly string[]
}

/** Throws `UsageError` where two tools would have one name, as calls would be ambiguous. */
export function assertDistinct(servers: readonly Named[]): void {
  const owners = new Map<string, string>()
  for (const { name, allow } of servers) {
    for (const tool of new Set(allow)) {
      const announced = announcedName(name, tool)
      const owner = `${tool} of ${name}`
      const other = owners.get(announced)
      if (other) {
        throw new UsageError(
          `The tools ${other} and ${owner} would both be called ${announced}: rename a tool server.`,
        )
      }
      owners.set(announced, owner)
    }
  }
}
