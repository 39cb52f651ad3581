import type { Sources } from './merge'
import { readGenaiPrices } from './read-genai-prices'
import { readLitellm } from './read-litellm'
import { readModelPrices } from './read-model-prices'
import { readModelsDev } from './read-models-dev'
import { readPiAi } from './read-pi-ai'

/** Parses all sources as of a day; `filesOf` returns the files of a package by its key. */
export async function readSources(
  on: string,
  filesOf: (key: string) => Promise<Map<string, File>>,
): Promise<Sources> {
  return {
    piAi: await readPiAi(await filesOf('pi-ai')),
    litellm: await readLitellm(await filesOf('litellm')),
    modelPrices: await readModelPrices(await filesOf('model-prices'), on),
    modelsDev: await readModelsDev(await filesOf('models.dev')),
    genaiPrices: await readGenaiPrices(await filesOf('genai-prices'), on),
  }
}
