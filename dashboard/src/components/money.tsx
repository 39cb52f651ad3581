import { exactUsd, requestUsd, usd } from '../format/money'

interface Props {
  amount: number
  /** `request` for what one request or attempt cost; by default a total. */
  of?: 'total' | 'request'
}

/** An amount in USD, with the exact amount as its title. */
export const Money = ({ amount, of = 'total' }: Props) => (
  <span title={exactUsd(amount)} style={{ fontVariantNumeric: 'tabular-nums' }}>
    {of === 'request' ? requestUsd(amount) : usd(amount)}
  </span>
)
