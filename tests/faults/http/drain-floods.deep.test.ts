import { expect, setDefaultTimeout, test } from 'bun:test'
import { forFile } from '../../harness/for-file'
import { untilNoticed } from '../../harness/http'
import { internalUrl, scrapeWhenBooked } from '../../harness/scrape'
import { floodKinds, startFloodedGateway } from './drain-flood'

setDefaultTimeout(120_000)

const flooded = forFile(startFloodedGateway, (opened) => opened[Symbol.asyncDispose]())

test.each(floodKinds)(
  'finding S11: a drain ends with its upstream, and reads nothing more: a flood of %s',
  async (kind) => {
    const { flood, gateway, leaveStream } = flooded()
    flood.with(kind)
    const before = flood.requests
    for (let k = 0; k < 3; k++) await leaveStream()
    await untilNoticed(gateway)
    expect(flood.requests).toBe(before + 3)
    flood.cut()
    // No request runs, and the journal has none that is open.
    await scrapeWhenBooked(await internalUrl(gateway))
    expect(flood.requests).toBe(before + 3)
  },
)
