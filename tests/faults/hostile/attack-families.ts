import { compressionBombs } from './compression-bombs'
import type { Attack } from './effect'
import { jsonShapes } from './json-shapes'
import { rejectedStorms } from './rejected-storms'
import { slowBodies } from './slow-bodies'
import { storedData } from './stored-data'
import { streamFloods } from './stream-floods'

/** Attacks on the service of other accounts, by the name of their kind, which begins with its row in the fault table. */
export const attackFamilies: Readonly<Record<string, readonly Attack[]>> = {
  'S2: streams': streamFloods,
  'S2: compression': compressionBombs,
  'S3: JSON': jsonShapes,
  'S2: refused requests': rejectedStorms,
  'S2: slow bodies': slowBodies,
  'S3: stored data': storedData,
}
