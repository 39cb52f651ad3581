import { expect, test } from 'bun:test'
import { recordHealthFigures } from '../../harness/http'
import { startRig } from '../../harness/server'

test('/healthz answers at once while nothing else does', async () => {
  await using rig = await startRig()
  expect(await recordHealthFigures(rig.gateway, Bun.sleep(50))).toBeGreaterThan(0)
})
