import { existsSync } from 'node:fs'
import { fine, warning, wordsOf, type Finding } from './finding'
import type { Config } from '../config'
import { unbookedIn } from '../metering/journal-replay'

const many = 10_000

/** What is used and not booked yet, as the files of this directory say. */
export function lookAtJournal({ dataDir }: Config): Finding {
  if (!existsSync(dataDir)) return fine('journal', 'none yet')
  try {
    const { rows, oldest } = unbookedIn(dataDir)
    const since = oldest === undefined ? '' : `, since ${oldest.toISOString()}`
    const what = `${rows} attempts wait to be booked${since}`
    if (rows < many) return fine('journal', what)
    return warning('journal', what, 'See that the database answers; a server that runs books them.')
  } catch (thrown) {
    const mend = 'Run this as the user that Tollgate runs as.'
    return warning('journal', `it cannot be read: ${wordsOf(thrown)}`, mend)
  }
}
