import { relative } from 'node:path'
import { fine, warning, formatFinding, type DoctorFinding } from './finding'
import type { Config } from '../../platform/config/config'
import { findJournalDirectories } from '../../journal/directories'
import { countUnbooked } from '../../journal/replay'

const maxUsual = 10_000

/** Reports usage that is not booked yet, from the journal files of a single process and of workers. */
export function lookAtJournal({ dataDir }: Config): DoctorFinding {
  try {
    const journals = findJournalDirectories(dataDir)
    if (journals.length === 0) return fine('journal', 'none yet')
    const waiting = journals
      .map(({ path }) => ({ folder: relative(dataDir, path), ...countUnbooked(path) }))
      .filter(({ rows }) => rows > 0)
    const rows = waiting.reduce((sum, one) => sum + one.rows, 0)
    const what = `${rows} attempts wait to be booked${waiting.map(formatCount).join('')}`
    if (rows < maxUsual) return fine('journal', what)
    return warning('journal', what, 'See that the database answers; a server that runs books them.')
  } catch (thrown) {
    const fix = 'Run this as the user that Tollgate runs as.'
    return warning('journal', `it cannot be read: ${formatFinding(thrown)}`, fix)
  }
}

type Waiting = { folder: string } & ReturnType<typeof countUnbooked>

const formatCount = ({ folder, rows, oldest }: Waiting): string =>
  `, ${folder && `${rows} of them in ${folder} `}since ${oldest?.toISOString()}`
