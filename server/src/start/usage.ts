import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Config } from '../config'
import type { CrashAt } from '../crash-points'
import { unavailable } from '../errors'
import { settle } from '../ledger/settle'
import type { UsageEvent } from '../ledger/usage-event'
import { toCharge, toRecord, type Charge } from '../ledger/usage-record'
import { Flusher } from '../metering/flusher'
import { Journal } from '../metering/journal'
import type { MeterPorts } from '../metering/meter'
import type { Months } from '../metering/months'

const mostParsed = 4096

interface Options {
  config: Config
  storage: Storage
  log: Logger
  crashAt: CrashAt | undefined
}

type WrittenPorts = Pick<MeterPorts, 'begin' | 'settle'>

/** Where usage is written down, and who books it. */
interface OpenedUsage {
  journal: Journal
  flusher: Flusher
  /** How meters write; `months` are told of what was used. */
  portsFor: (months: Months) => WrittenPorts
}

/** Opens the journal and what books it. */
export async function openUsage(
  options: Options,
  stack: AsyncDisposableStack,
): Promise<OpenedUsage> {
  const journal = stack.use(await openJournal(options))
  const parsed: Parsed = new Map()
  const flusher = stack.use(openFlusher(options, journal, parsed))
  return {
    journal,
    flusher,
    portsFor: (months) => meterPorts({ ...options, journal, months, parsed }),
  }
}

function openFlusher(
  { storage, log, crashAt }: Options,
  journal: Journal,
  parsed: Parsed,
): Flusher {
  const { query } = storage.database
  const beforeCommit = crashAt && (() => crashAt('flush-before-commit'))
  return new Flusher({
    journal,
    book: async (records) => {
      crashAt?.('flush-before-begin')
      await settle(query, records, { parsed, beforeCommit })
      for (const record of records) parsed.delete(record)
      crashAt?.('flush-after-commit')
    },
    onError: (err) => log.warn({ err, waiting: journal.size }, 'usage could not be booked yet'),
  })
}

function openJournal({ config, storage, log, crashAt }: Options): Promise<Journal> {
  const ofOld = join(storage.dataDir, 'journal.sqlite')
  if (existsSync(ofOld)) {
    log.warn({ path: ofOld }, 'a usage journal of an early version is not read; it is left alone')
  }
  return Journal.open({
    directory: storage.dataDir,
    sync: config.journalSync,
    onDamage: (damage) => log.error({ damage }, 'the usage journal was damaged'),
    onFailure: (err) => log.fatal({ err }, 'the usage journal failed; paid requests are refused'),
    onDelay: (err) => log.warn({ err }, 'a file of the usage journal could not be given away yet'),
    ...(crashAt && { crashAt }),
  })
}

/** Charges of records in the journal, as far as there are few: what is booked soon need not be read. */
type Parsed = Map<string, Charge>

interface WritePorts extends Pick<Options, 'storage' | 'log' | 'crashAt'> {
  journal: Journal
  months: Months
  parsed: Parsed
}

const meterPorts = (ports: WritePorts): WrittenPorts => ({
  begin: (attemptId, record) => begin(attemptId, record, ports),
  settle: (event, beginning) => {
    ports.months.note(event)
    return write(event, toRecord(event, beginning), ports)
  },
})

/** Nothing is asked of a provider before it is written down. */
function begin(
  attemptId: string,
  record: string,
  { journal, crashAt }: Pick<WritePorts, 'journal' | 'crashAt'>,
): Promise<void> {
  crashAt?.('after-admit')
  const begun = journal.begin(attemptId, record).catch((cause: unknown) => {
    throw unavailable(cause)
  })
  return crashAt ? begun.then(() => crashAt('after-open-record')) : begun
}

/** Journal first; where its disk refuses, straight to the ledger. Rejects where neither takes it. */
async function write(
  event: UsageEvent,
  record: string,
  { storage, log, crashAt, journal, months, parsed }: WritePorts,
): Promise<void> {
  crashAt?.('after-usage')
  if (parsed.size < mostParsed) parsed.set(record, toCharge(event))
  try {
    await journal.settle(event.id, record)
  } catch (cause) {
    parsed.delete(record)
    log.error({ err: cause, attemptId: event.id }, 'a usage event goes straight to the ledger')
    await settle(storage.database.query, [record]).catch((err: unknown) => {
      log.fatal({ err, record }, 'a usage event could not be written anywhere')
      months.drop(event)
      throw unavailable(err)
    })
  }
}
