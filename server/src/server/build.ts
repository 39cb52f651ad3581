import { packed } from './packed-build'
import { version } from '../../package.json'

/** The version of this program, and the commit that it was built from; null where that is unknown. */
export interface Build {
  version: string
  commit: string | null
}

/** Reads the build: of the executable that it is, else as the launcher read the checkout. */
export const readBuild = (): Build => ({
  version,
  commit: (packed ? packed.commit : process.env['TOLLGATE_COMMIT']) || null,
})

/** Formats a build in one word: `0.6.0+41fc8a0c32f1`. */
export const formatBuild = ({ version, commit }: Build): string =>
  commit === null ? version : `${version}+${commit}`
