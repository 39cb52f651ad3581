import type { CatalogFile } from './catalog-file'

/** The built-in models; a test reads each line of the file by its schema. */
declare const catalog: CatalogFile
export default catalog
