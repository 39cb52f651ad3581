import { Table, VisuallyHidden } from '@mantine/core'

/** The header of a column that needs none for who sees it. */
export const HiddenHeader = ({ label }: { label: string }) => (
  <Table.Th>
    <VisuallyHidden>{label}</VisuallyHidden>
  </Table.Th>
)
