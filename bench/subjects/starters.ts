import { startDirect } from './direct'
import { startFerrogw, startFerrogwGoverned } from './ferrogw'
import { startLitellm, startLitellmGoverned } from './litellm'
import { startLitellmRs, startLitellmRsGoverned } from './litellm-rs'
import { startNginx } from './nginx'
import { startPortkey } from './portkey'
import { startSmg, startSmgGoverned } from './smg'
import type { Subject } from './subject'
import { startTollgate, startTwo, startWithoutMoney, startWorkers } from './tollgate'

export type Starters = Record<string, () => Promise<Subject>>

/** The subjects of the tables of bare and governed gateways, by name. */
export const governanceStarters: Starters = {
  direct: startDirect,
  nginx: startNginx,
  tollgate: startTollgate,
  'tollgate-free': startWithoutMoney,
  smg: startSmg,
  ferrogw: startFerrogw,
  'litellm-rs': startLitellmRs,
  portkey: startPortkey,
  litellm: startLitellm,
  'smg-governed': startSmgGoverned,
  'ferrogw-governed': startFerrogwGoverned,
  'litellm-rs-governed': startLitellmRsGoverned,
  'litellm-governed': startLitellmGoverned,
}

/** All subjects, by name. */
export const allStarters: Starters = {
  ...governanceStarters,
  'tollgate-workers': startWorkers,
  'tollgate-2': startTwo,
}
