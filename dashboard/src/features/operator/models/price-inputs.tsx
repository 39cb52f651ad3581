import {
  Button,
  Fieldset,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import {
  newTier,
  priceGroups,
  priceParts,
  type PriceFields,
  type PricePart,
  type RateFields,
  type TierFields,
} from '../../models/prices'

const decimals = 9
const labels = new Map<PricePart, string>(priceParts)
/** Rates that every price has; a token rate without a value is charged as one of these. */
const required = new Set<PricePart>(['input', 'output'])

interface RatesProps {
  value: RateFields
  onChange: (value: RateFields) => void
  /** Placeholder of an empty optional field. */
  placeholder: string
  isRequired: (part: PricePart) => boolean
}

const RateInputs = ({ value, onChange, placeholder, isRequired }: RatesProps) => (
  <Stack gap="xs">
    {priceGroups.map(([name, parts]) => (
      <Fieldset key={name} legend={name} p="xs">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          {parts.map((part) => (
            <NumberInput
              key={part}
              label={labels.get(part)}
              prefix="$"
              min={0}
              decimalScale={decimals}
              placeholder={isRequired(part) ? '' : placeholder}
              value={value[part]}
              onChange={(amount) => onChange({ ...value, [part]: amount })}
            />
          ))}
        </SimpleGrid>
      </Fieldset>
    ))}
  </Stack>
)

const serviceTiers = ['flex', 'priority', 'batch'] as const

const tierOf = (name: string | null) => serviceTiers.find((tier) => tier === name) ?? ''

interface TierProps {
  number: number
  value: TierFields
  onChange: (value: TierFields) => void
  onRemove: () => void
}

/** Conditions of tiers for models that make images. */
const ImageConditions = ({ value, onChange }: Pick<TierProps, 'value' | 'onChange'>) => (
  <>
    <TextInput
      label="Quality of images"
      value={value.quality}
      onChange={(event) => onChange({ ...value, quality: event.currentTarget.value })}
    />
    <NumberInput
      label="Images above"
      suffix=" pixels"
      min={0}
      allowDecimal={false}
      thousandSeparator=","
      value={value.above_pixels}
      onChange={(pixels) => onChange({ ...value, above_pixels: pixels })}
    />
  </>
)

const TierInputs = ({ number, value, onChange, onRemove }: TierProps) => (
  <Fieldset legend={`Tier ${number}`}>
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <NumberInput
          label="Prompts above"
          suffix=" tokens"
          min={1}
          allowDecimal={false}
          thousandSeparator=","
          value={value.above}
          onChange={(above) => onChange({ ...value, above })}
        />
        <Select
          label="Service tier"
          clearable
          data={[...serviceTiers]}
          value={value.service_tier === '' ? null : value.service_tier}
          onChange={(tier) => onChange({ ...value, service_tier: tierOf(tier) })}
        />
        <TextInput
          label="From, UTC"
          type="time"
          value={value.from}
          onChange={(event) => onChange({ ...value, from: event.currentTarget.value })}
        />
        <TextInput
          label="Until, UTC"
          type="time"
          value={value.until}
          onChange={(event) => onChange({ ...value, until: event.currentTarget.value })}
        />
        <ImageConditions value={value} onChange={onChange} />
      </SimpleGrid>
      <RateInputs
        value={value.rates}
        onChange={(rates) => onChange({ ...value, rates })}
        placeholder="As above"
        isRequired={() => false}
      />
      <Group justify="flex-end">
        <Button size="xs" variant="default" onClick={onRemove}>
          Remove tier {number}
        </Button>
      </Group>
    </Stack>
  </Fieldset>
)

interface Props {
  value: PriceFields
  onChange: (value: PriceFields) => void
}

/** Inputs for a price in USD: its rates, and its tiers by prompt length, service tier and time of day. */
export function PriceInputs({ value, onChange }: Props) {
  const { rates, tiers } = value
  const setTiers = (changed: TierFields[]) => onChange({ rates, tiers: changed })
  return (
    <Stack gap="sm">
      <RateInputs
        value={rates}
        onChange={(changed) => onChange({ rates: changed, tiers })}
        placeholder="No rate of its own"
        isRequired={(part) => required.has(part)}
      />
      {tiers.map((tier, at) => (
        <TierInputs
          // oxlint-disable-next-line react/no-array-index-key -- a tier has no id but its index
          key={at}
          number={at + 1}
          value={tier}
          onChange={(changed) => setTiers(tiers.with(at, changed))}
          onRemove={() => setTiers(tiers.toSpliced(at, 1))}
        />
      ))}
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          A tier has other rates, for long prompts, a service tier or hours. Of two that hold, the
          later one counts.
        </Text>
        <Button size="xs" variant="light" onClick={() => setTiers([...tiers, newTier])}>
          Add a tier
        </Button>
      </Group>
    </Stack>
  )
}
