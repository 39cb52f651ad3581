import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exitCodes } from '../../../connect/src/reconnect-decision'

const folder = join(import.meta.dir, '../../../deploy/systemd')
const read = (path: string) => readFile(join(folder, path), 'utf8')
const unit = await read('tollgate-connect.service')

test('the agent is not started again where that cannot help', () => {
  const { usage, revoked, replaced, version } = exitCodes
  const final = [usage, revoked, replaced, version].join(' ')
  expect(unit).toContain(`\nRestartPreventExitStatus=${final}\n`)
  expect(unit).toContain('\nRestart=on-failure\n')
})

test('the agent has its secrets from a file that is empty in the repository', async () => {
  expect(unit).toContain('\nEnvironmentFile=/etc/tollgate/connect.env\n')
  expect(await read('connect.env')).toContain('\nTOLLGATE_GATEWAY_TOKEN=\n')
})

test.skipIf(!Bun.which('systemd-analyze'))('the agent is closed in (needs systemd)', () => {
  const path = join(folder, 'tollgate-connect.service')
  const command = ['systemd-analyze', 'security', '--offline=true', '--threshold=20', path]
  expect(Bun.spawnSync(command).exitCode).toBe(0)
})
