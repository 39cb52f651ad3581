import { packed } from './packed'
import { installedPrograms } from '../db/embedded/installed-package'
import { packedPrograms } from '../db/embedded/packed-programs'
import type { Programs } from '../db/embedded/programs'

/** The programs of the embedded PostgreSQL: what the executable carries along, or the installed package's. */
export async function embeddedPrograms(): Promise<Programs> {
  return packed ? packedPrograms(packed.programs) : installedPrograms()
}
