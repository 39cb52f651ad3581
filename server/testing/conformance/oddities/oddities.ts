import { callOddities } from './call-oddities'
import { contentOddities } from './content-oddities'
import { countOddities } from './count-oddities'
import { endOddities } from './end-oddities'
import { mediaOddities } from './media-oddities'
import { numberOddities } from './number-oddities'
import type { Oddity } from './oddity'
import { pieceOddities } from './piece-oddities'
import { thoughtOddities } from './thought-oddities'
import { uncountedOddities } from './uncounted-oddities'

/** Everything odd that providers were seen to send. */
export const oddities: readonly Oddity[] = [
  ...callOddities,
  ...pieceOddities,
  ...numberOddities,
  ...thoughtOddities,
  ...contentOddities,
  ...mediaOddities,
  ...endOddities,
  ...countOddities,
  ...uncountedOddities,
]
