import { packed } from './packed-build'
import { findInstalledPrograms } from '../platform/embedded-postgres/installed-package'
import { unpackPrograms } from '../platform/embedded-postgres/packed-programs'
import type { Programs } from '../platform/embedded-postgres/programs'

/** Returns the programs of the embedded PostgreSQL: those in the executable, or the installed package's. */
export async function findEmbeddedPrograms(): Promise<Programs> {
  return packed ? unpackPrograms(packed.programs) : findInstalledPrograms()
}
