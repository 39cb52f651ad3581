import type { PackedPrograms } from '../db/embedded/packed-programs'

/** What the single executable carries along. */
export interface Packed {
  /** Path of a tar archive of the bundled dashboard. */
  dashboard: string
  programs: PackedPrograms
}

/** Nothing where the sources run; `deploy/executable/build.ts` puts another module in the place of this one. */
export const packed = undefined as Packed | undefined
