import { Group, Pill, Text } from '@mantine/core'
import {
  dimensions,
  type Dimension,
  type ExplorerFilter,
  type ExplorerSearch,
} from '../../url/explorer'

interface Props {
  filter: ExplorerFilter
  names: Readonly<Record<Dimension, string>>
  onSearch: (changed: ExplorerSearch) => void
}

/** The filters in force, each with a button that removes it. */
export function FilterList({ filter, names, onSearch }: Props) {
  const active = dimensions.flatMap((dimension) => {
    const value = dimension === 'department' ? undefined : filter[dimension]
    return value === undefined ? [] : [{ dimension, value }]
  })
  if (active.length === 0) return null
  return (
    <Group gap="xs" role="group" aria-label="Filters">
      <Text size="sm">Only</Text>
      {active.map(({ dimension, value }) => (
        <Pill
          key={dimension}
          size="md"
          withRemoveButton
          onRemove={() => onSearch({ [dimension]: undefined })}
          removeButtonProps={{
            'aria-label': `Remove the filter by ${names[dimension].toLowerCase()}`,
            'aria-hidden': false,
            tabIndex: 0,
          }}
        >
          {names[dimension]}: {value}
        </Pill>
      ))}
    </Group>
  )
}
