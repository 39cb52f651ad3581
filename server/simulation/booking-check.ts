import { toEvent } from './event-body'
import type { SimulatedStatements } from './statements'
import { LostBookings } from '../src/booking/lost-bookings'
import type { JournalFileSystem } from '../src/journal/file-system'
import { readSettledFiles } from '../src/journal/settled-files'
import { Periodic } from '../src/platform/periodic'

interface NodeFiles {
  directory: string
  fileSystem: JournalFileSystem
  onMended: () => void
}

/** As the settings have it by default. */
export const keptFiles = { ms: 600_000, bytes: 64 * 1024 * 1024 }
const everyMs = 2000

const keyOf = (body: string) => ({ id: toEvent(body).id, startedAt: '', isOrphan: false })

/** Books settled rows, and notes the last one. */
export async function bookBodies(
  statements: SimulatedStatements,
  bodies: readonly string[],
  lost: LostBookings | undefined,
): Promise<void> {
  await statements.book(bodies.map(toEvent))
  const last = bodies.at(-1)
  if (last !== undefined) lost?.note(keyOf(last))
}

/** Creates the check of a node's bookings, as `booking/create-lost-bookings.ts` does. */
export function createBookingCheck(
  statements: SimulatedStatements,
  { directory, fileSystem, onMended }: NodeFiles,
): LostBookings {
  const lost: LostBookings = new LostBookings(
    {
      lookUp: (events) => statements.lookUp(events),
      journals: () => [readSettledFiles(directory, fileSystem)],
      keyOf,
      book: (bodies) => bookBodies(statements, bodies, lost),
      now: () => Date.now(),
      onLoss: () => undefined,
      onMended,
      onForeign: () => undefined,
      onError: () => undefined,
    },
    { keptMs: keptFiles.ms, isDoubtful: true },
  )
  return lost
}

/** Checks from now on, until the node's process ends. */
export function startBookingCheck(lost: LostBookings): Periodic {
  void lost.check()
  return new Periodic({ intervalMs: everyMs, run: () => lost.check() })
}
