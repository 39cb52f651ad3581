import type { Usage } from './usage'

/** The sum of the usages of several upstream answers to one request. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  ...addMeasured(a, b),
  input: a.input + b.input,
  cachedInput: a.cachedInput + b.cachedInput,
  ...(a.cachedAudio || b.cachedAudio
    ? { cachedAudio: (a.cachedAudio ?? 0) + (b.cachedAudio ?? 0) }
    : {}),
  cacheWrite: a.cacheWrite + b.cacheWrite,
  cacheWriteLong: a.cacheWriteLong + b.cacheWriteLong,
  audioInput: a.audioInput + b.audioInput,
  imageInput: a.imageInput + b.imageInput,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  audioOutput: a.audioOutput + b.audioOutput,
  imageOutput: a.imageOutput + b.imageOutput,
  searches: a.searches + b.searches,
  ...(a.requestFee !== undefined &&
    b.requestFee !== undefined && { requestFee: a.requestFee + b.requestFee }),
  ...((a.madeImages ?? b.madeImages) !== undefined && addMade(a, b)),
  ...((a.spokenMs ?? b.spokenMs) !== undefined && addSpoken(a, b)),
  servedTier: a.servedTier === b.servedTier ? a.servedTier : undefined,
  estimated: a.estimated || b.estimated,
  flawed: a.flawed || b.flawed,
})

/** A quality that not all images of the sum have is unknown. */
const addMade = (
  a: Usage,
  b: Usage,
): Pick<Usage, 'madeImages' | 'madePixels' | 'imageQuality'> => ({
  madeImages: (a.madeImages ?? 0) + (b.madeImages ?? 0),
  madePixels: (a.madePixels ?? 0) + (b.madePixels ?? 0),
  ...(a.imageQuality === b.imageQuality && { imageQuality: a.imageQuality }),
})

const addSpoken = (a: Usage, b: Usage): Pick<Usage, 'spokenCharacters' | 'spokenMs'> => ({
  spokenCharacters: (a.spokenCharacters ?? 0) + (b.spokenCharacters ?? 0),
  spokenMs: (a.spokenMs ?? 0) + (b.spokenMs ?? 0),
})

/** A processing time that one of several answers does not report is unknown for their sum. */
function addMeasured(
  a: Usage,
  b: Usage,
): Pick<Usage, 'outputCharacters' | 'processingMs' | 'audioMs'> {
  const { outputCharacters: writtenCharacters, processingMs: ms } = a
  const { outputCharacters: alsoWritten, processingMs: alsoMs } = b
  const isCounted = (writtenCharacters ?? alsoWritten) !== undefined
  return {
    ...(isCounted && { outputCharacters: (writtenCharacters ?? 0) + (alsoWritten ?? 0) }),
    ...(ms !== undefined && alsoMs !== undefined && { processingMs: ms + alsoMs }),
    ...((a.audioMs ?? b.audioMs) !== undefined && {
      audioMs: (a.audioMs ?? 0) + (b.audioMs ?? 0),
    }),
  }
}
