import { exactUsd, usd } from '../figures'

/** An amount of USD, with the exact one in its title. */
export const Money = ({ amount }: { amount: number }) => (
  <span title={exactUsd(amount)} style={{ fontVariantNumeric: 'tabular-nums' }}>
    {usd(amount)}
  </span>
)
