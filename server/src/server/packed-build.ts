import type { PackedPrograms } from '../platform/embedded-postgres/packed-programs'

/** The files that the single executable contains. */
export interface Packed {
  /** Path of a tar archive of the bundled dashboard. */
  dashboard: string
  programs: PackedPrograms
  /** The commit of the build; null where it was unknown. */
  commit: string | null
}

/** Undefined when running from source; `deploy/executable/build.ts` replaces this module. */
export const packed = undefined as Packed | undefined
