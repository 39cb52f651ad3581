/** The path of the built-in models; a test reads each line of the file by its schema. */
declare const path: string
export default path
