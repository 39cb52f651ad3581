import { UsageError } from '../words'

const mostLength = 64

/** Returns a tool's name as models see it: `<server>_<tool>`, with allowed characters only. */
export const announcedName = (server: string, tool: string): string =>
  `${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, mostLength)

interface Named {
  name: string
  allow: readonly string[]
}

/** Throws `UsageError` where two tools would have one name, as calls would be ambiguous. */
export function assertDistinct(servers: readonly Named[]): void {
  const taken = new Map<string, string>()
  for (const { name, allow } of servers) {
    for (const tool of new Set(allow)) {
      const announced = announcedName(name, tool)
      const here = `${tool} of ${name}`
      const there = taken.get(announced)
      if (there) {
        throw new UsageError(
          `The tools ${there} and ${here} would both be called ${announced}: rename a tool server.`,
        )
      }
      taken.set(announced, here)
    }
  }
}
