import { afterEach, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDashboardFiles } from './dashboard'

const before = process.env['TOLLGATE_DASHBOARD']

afterEach(() => {
  if (before === undefined) delete process.env['TOLLGATE_DASHBOARD']
  else process.env['TOLLGATE_DASHBOARD'] = before
})

test('finding N17: the server reads the bundle that was made before its start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  try {
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'index.html'), 'the page')
    await writeFile(join(folder, 'assets/main-1.js'), 'the script')
    process.env['TOLLGATE_DASHBOARD'] = folder
    const files = await createDashboardFiles()()
    expect([...files.keys()].toSorted()).toEqual(['/assets/main-1.js', '/index.html'])
    expect(files.get('/index.html')?.bytes.toString()).toBe('the page')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
