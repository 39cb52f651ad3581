import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../../harness/run-command'
import { openDatabase } from '../../harness/database'
import { messages } from '../../harness/http'
import { newDataDir, startGateway } from '../../harness/server'
import { migrationNames } from '../../../server/src/platform/db/migrate'

/**
 * Backups of releases, with their keys, which later versions have to restore. `write-released.ts` wrote them; a
 * release adds one of its own and keeps the others.
 */
const formats = join(import.meta.dir, '../../../server/testing/formats')
const released = readdirSync(formats).filter((name) => name.startsWith('backup-'))

/** What 0.1.0 signed was sign-in alone; later releases sign the identifiers that providers get, too. */
const countSigningSecrets = (name: string) => (name === 'backup-0.1.0.tar.gz' ? 1 : 2)

test('L07: there is a backup of a release', () => expect(released).not.toEqual([]))

test.each(released)(
  'L07: %s is restored, brought up to date, and served from',
  async (name) => {
    const dataDir = await newDataDir()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(dataDir, { recursive: true, force: true }))
    const settings = { DATA_DIR: dataDir, RETENTION_DAYS: '3650' }
    const restored = await runCommand('restore', settings, join(formats, name), '--json')
    expect([restored.code, restored.err]).toEqual([0, ''])
    expect(JSON.parse(restored.out)).toMatchObject({
      keys: ['encryption-key', 'admin-key'],
      rows: {
        usage_event: 3,
        signing_secret: countSigningSecrets(name),
        prompt: 1,
        organization: 1,
      },
    })
    for (const key of ['encryption-key', 'admin-key']) {
      expect((await stat(join(dataDir, key))).mode & 0o777).toBe(0o600)
    }
    const migrated = await runCommand('migrate', settings, '--json')
    expect([migrated.code, migrated.out, migrated.err]).toEqual([
      0,
      '{"migrations":[]}\n',
      expect.any(String),
    ])
    expect((await runCommand('audit', settings)).out).toContain('in order')

    await using gateway = await startGateway({ dataDir, environment: settings })
    expect((await readFile(join(dataDir, 'admin-key'), 'utf8')).trim()).toBe(gateway.adminKey)
    await using sql = await openDatabase(dataDir)
    const made = await sql`select name from kysely_migration order by name`
    expect(made.map(({ name }: { name: string }) => name)).toEqual([...migrationNames])
    const [kept] = await sql`
    select id, (select balance_after::text from ledger_entry where account_id = users.id
        order by id desc limit 1) as balance,
      (select sum(cost)::text from usage_event where user_id = users.id) as cost,
      (select title || content from prompt where user_id = users.id) as prompt
    from users where email = 'kept@example.com'`
    expect(BigInt(kept.balance) + BigInt(kept.cost)).toBe(5_000_000_000n)
    expect(kept.prompt).toBe('Ünïcode\t\\NTwo\nlines, and a \\ between.')

    const { key } = await gateway.admin('POST', `/users/${kept.id}/keys`, { name: 'after' })
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/echo', messages }),
    })
    expect(response.status).toBe(200)
  },
  120_000,
)
