import { NumberInput, SimpleGrid } from '@mantine/core'
import { priceParts, type PriceFields, type PricePart } from '../operator/models'

const decimals = 9
/** What every model is asked for; the rest is charged as one of these where it is empty. */
const needed = new Set<PricePart>(['input', 'output'])

interface Props {
  value: PriceFields
  onChange: (value: PriceFields) => void
}

/** A price, part by part, in USD. */
export const PriceInputs = ({ value, onChange }: Props) => (
  <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
    {priceParts.map(([part, label]) => (
      <NumberInput
        key={part}
        label={label}
        prefix="$"
        min={0}
        decimalScale={decimals}
        placeholder={needed.has(part) ? '' : 'As the others'}
        value={value[part]}
        onChange={(amount) => onChange({ ...value, [part]: amount })}
      />
    ))}
  </SimpleGrid>
)
