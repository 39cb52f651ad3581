import { Select, Text } from '@mantine/core'
import { strategies, strategyOf, type Strategy } from './queries'

const choices = Object.entries(strategies).map(([value, [label]]) => ({ value, label }))

interface Props {
  value: Strategy
  onChange: (strategy: Strategy) => void
  disabled?: boolean
}

/** Selects the routing strategy of a collection and explains it. */
export const StrategySelect = ({ value, onChange, disabled = false }: Props) => (
  <Select
    label="Routing strategy"
    description={strategies[value][1]}
    inputWrapperOrder={['label', 'input', 'description']}
    allowDeselect={false}
    disabled={disabled}
    data={choices}
    value={value}
    onChange={(name) => onChange(strategyOf(name))}
    renderOption={({ option }) => (
      <div>
        <Text size="sm">{option.label}</Text>
        <Text size="xs" opacity={0.8}>
          {strategies[strategyOf(option.value)][1]}
        </Text>
      </div>
    )}
  />
)
