import StrataInspector

StrataCommand.start()
