import { z } from 'zod'

/** Raised where an older program could not read what this one writes. */
export const formatVersion = 1

const Table = z.object({ name: z.string(), columns: z.array(z.string()).min(1) })

/** What a backup is: its first file, `backup.json`. */
export const Contents = z.object({
  format: z.literal('tollgate-backup'),
  format_version: z.int(),
  /** Of Tollgate. */
  version: z.string(),
  /** Whoever committed until then is in it. By the clock of the database. */
  made_at: z.iso.datetime(),
  postgres: z.string(),
  /** By name, which is the order in which they are made. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(Table),
  partitions: z.array(z.object({ table: z.string(), name: z.string(), bound: z.string() })),
  sequences: z.array(
    z.object({ name: z.string(), last_value: z.string().regex(/^\d+$/), is_called: z.boolean() }),
  ),
  /** Names of files of the data directory. */
  files: z.array(z.string()),
})
export type Contents = z.output<typeof Contents>
export type Table = z.output<typeof Table>

/** What its last file, `checksums.json`, says of all that come before it. */
export const Checksums = z.object({
  /** SHA-256 in hexadecimal, by name. */
  files: z.record(z.string(), z.string()),
  /** By table. */
  rows: z.record(z.string(), z.int()),
})
export type Checksums = z.output<typeof Checksums>

export const names = { contents: 'backup.json', checksums: 'checksums.json' }

const widthOfNumber = 6

/** The pieces of a table are numbered from 1. */
export const pieceName = (table: string, number: number) =>
  `tables/${table}.${String(number).padStart(widthOfNumber, '0')}.copy`

/** The table whose piece this is. */
export const tableOf = (name: string) => /^tables\/(.+)\.\d+\.copy$/.exec(name)?.[1]

export const fileName = (name: string) => `data/${name}`

/** The file of the data directory that this is. */
export const fileOf = (name: string) => /^data\/([a-z-]+)$/.exec(name)?.[1]

/** Without them nothing that is stored can be read, and nobody is an operator. */
export const keyFiles = ['encryption-key', 'admin-key'] as const

/** A name as SQL has it. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
