import { expect, test } from 'bun:test'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir, startRig, upstreamSecret, startGateway } from '../../harness/server'

test('K02: no secret is in the database, in the logs or in a list', async () => {
  await using rig = await startRig({ environment: { LOG_LEVEL: 'trace' } })
  const { gateway } = rig
  const { key, client } = await gateway.customer()
  await client.chat.completions.create({
    model: await rig.model('ok'),
    messages: [{ role: 'user', content: 'Hello!' }],
  })
  for (const list of ['users', 'providers', 'models', 'connections']) {
    await gateway.recorder.fetch(`${gateway.url}/api/admin/${list}`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    })
  }
  await gateway.recorder.fetch(`${gateway.url}/v1/models?key=${key}`, {
    headers: { authorization: `Bearer ${key}x` },
  })
  // Lines of the log go out together: that of the last request is the last of them.
  await eventually(() => /\/v1\/chat\/completions[\s\S]*\/v1\/models/.test(gateway.output()))
  const rows = await dump(gateway.dataDir)
  expect(rows).toContain('@example.com')
  const output = gateway.output()
  expect(output).toContain('/v1/chat/completions')
  for (const secret of [key, upstreamSecret, gateway.adminKey]) {
    const forms = [secret, Buffer.from(secret).toString('hex'), btoa(secret), secret.slice(14, 40)]
    for (const form of forms) {
      expect(rows).not.toContain(form)
      expect(output).not.toContain(form)
    }
  }
  gateway.recorder.verify()
})

test('files of the data directory are for their owner alone', async () => {
  const dataDir = await newDataDir()
  await using gateway = await startGateway({ dataDir })
  const names = await readdir(dataDir)
  expect(names).toEqual(expect.arrayContaining(['admin-key', 'encryption-key', 'first-key']))
  const listing = Bun.spawnSync(['find', dataDir, '-maxdepth', '1', '-type', 'f', '-perm', '/077'])
  expect(listing.stdout.toString()).toBe('')
  const cluster = Bun.spawnSync(['find', join(dataDir, 'postgres/cluster'), '-perm', '/077'])
  expect(cluster.stdout.toString()).toBe('')
  expect(Bun.file(join(dataDir, 'postgres/password')).size).toBeGreaterThan(20)
  const { mode } = await Bun.file(join(dataDir, 'postgres/password')).stat()
  expect(mode & 0o077).toBe(0)
  expect(await readFile(join(dataDir, 'first-key'), 'utf8')).toStartWith('sk-tg-')
  await gateway.stop()
  Bun.spawnSync(['rm', '-rf', dataDir])
})
