import { exactUsd, usd } from '../format/figures'

/** An amount in USD, with the exact amount as its title. */
export const Money = ({ amount }: { amount: number }) => (
  <span title={exactUsd(amount)} style={{ fontVariantNumeric: 'tabular-nums' }}>
    {usd(amount)}
  </span>
)
