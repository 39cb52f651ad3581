import { packed } from './packed-build'
import { findInstalledPrograms } from '../db/embedded/installed-package'
import { unpackPrograms } from '../db/embedded/packed-programs'
import type { Programs } from '../db/embedded/programs'

/** Returns the programs of the embedded PostgreSQL: those in the executable, or the installed package's. */
export async function findEmbeddedPrograms(): Promise<Programs> {
  return packed ? unpackPrograms(packed.programs) : findInstalledPrograms()
}
