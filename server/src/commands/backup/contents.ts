import { z } from 'zod'

/** Increased when older versions cannot read the format that this one writes. */
export const formatVersion = 1

const Table = z.object({ name: z.string(), columns: z.array(z.string()).min(1) })

/** The first file of a backup, `backup.json`, which describes its contents. */
export const Contents = z.object({
  format: z.literal('tollgate-backup'),
  format_version: z.int(),
  /** The version of Tollgate. */
  version: z.string(),
  /** Everything committed by then is in the backup. By the clock of the database. */
  made_at: z.iso.datetime(),
  postgres: z.string(),
  /** Migrations by name, in the order in which they run. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(Table),
  partitions: z.array(z.object({ table: z.string(), name: z.string(), bound: z.string() })),
  sequences: z.array(
    z.object({ name: z.string(), last_value: z.string().regex(/^\d+$/), is_called: z.boolean() }),
  ),
  /** Names of files from the data directory. */
  files: z.array(z.string()),
})
export type Contents = z.output<typeof Contents>
export type Table = z.output<typeof Table>

/** The last file of a backup, `checksums.json`: it covers all files that come before it. */
export const Checksums = z.object({
  /** SHA-256 in hexadecimal, by file name. */
  files: z.record(z.string(), z.string()),
  /** Numbers of rows, by table. */
  rows: z.record(z.string(), z.int()),
})
export type Checksums = z.output<typeof Checksums>

export const names = { contents: 'backup.json', checksums: 'checksums.json' }

const widthOfNumber = 6

/** Names a piece of a table; pieces are numbered from 1. */
export const pieceName = (table: string, number: number) =>
  `tables/${table}.${String(number).padStart(widthOfNumber, '0')}.copy`

/** Returns the table that a piece belongs to. */
export const tableOf = (name: string) => /^tables\/(.+)\.\d+\.copy$/.exec(name)?.[1]

export const fileName = (name: string) => `data/${name}`

/** Returns the name of the file in the data directory that an entry holds. */
export const fileOf = (name: string) => /^data\/([a-z-]+)$/.exec(name)?.[1]

/** Without these keys no stored secret can be read, and no key opens the operator's routes. */
export const keyFiles = ['encryption-key', 'admin-key'] as const

/** Quotes a name as an SQL identifier. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`
