/// Model files with features that Xcode can write and that no app in the corpus has.
enum HandMade {
    static let everything = """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" systemVersion="23B81" minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithCloudKit="YES" userDefinedModelVersionIdentifier="v7">
            <entity name="Film" representedClassName=".Movie" elementID="Picture" versionHashModifier="2" syncable="YES" codeGenerationType="class">
                <attribute name="size" optional="YES" attributeType="Composite" composite="Size" syncable="YES"/>
                <attribute name="born" optional="YES" attributeType="Date" minDateTimeInterval="0" maxDateTimeInterval="86400" defaultDateTimeInterval="3600" usesScalarValueType="NO"/>
                <attribute name="code" attributeType="String" minValueString="2" maxValueString="4" defaultValueString="AB&quot;&lt;" regularExpressionString="[A-Z&quot;&lt;]+" preserveAfterDeletion="YES"/>
                <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="actors.@count" usesScalarValueType="YES"/>
                <attribute name="secret" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" allowsCloudEncryption="YES"/>
                <attribute name="year" attributeType="Integer 16" minValueString="1888" defaultValueString="2000" usesScalarValueType="YES" renamingIdentifier="made"/>
                <attribute name="cache" optional="YES" transient="YES"/>
                <relationship name="actors" optional="YES" toMany="YES" minCount="2" maxCount="9" deletionRule="Cascade" ordered="YES" destinationEntity="Person" inverseName="films" inverseEntity="Person"/>
                <fetchedProperty name="namesakes" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Film" predicateString="code == $FETCH_SOURCE.code"/>
                    <userInfo/>
                </fetchedProperty>
                <fetchIndex name="byPlace" partialIndexPredicate="year &gt; 1900">
                    <fetchIndexElement property="year" type="RTree" order="ascending"/>
                    <fetchIndexElement property="code" type="Binary" order="descending"/>
                </fetchIndex>
                <fetchIndex name="byLength">
                    <fetchIndexElement expression="length:(code)" expressionType="Integer 64" type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="code"/>
                        <constraint value="year"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo>
                    <entry key="a" value="1&#10;2"/>
                    <entry key="b" value=""/>
                </userInfo>
            </entity>
            <entity name="Person" isAbstract="YES">
                <relationship name="films" toMany="YES" deletionRule="Deny" destinationEntity="Film" inverseName="actors" inverseEntity="Film"/>
            </entity>
            <entity name="Star" parentEntity="Person">
                <attribute name="rank" attributeType="Decimal" defaultValueString="1.25" novelty="7"/>
                <surprise name="x"/>
            </entity>
            <composite name="Size">
                <attribute name="width" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
                <attribute name="height" attributeType="Double" defaultValueString="0.0"/>
            </composite>
            <fetchRequest name="since" entity="Film" predicateString="year &gt;= $YEAR" fetchLimit="5" fetchBatchSize="20" resultType="2" includesPropertyValues="YES" includePendingChanges="YES" returnsDistinctResults="YES"/>
            <configuration name="Cloud" usedWithCloudKit="YES">
                <memberEntity name="Film"/>
                <memberEntity name="Star"/>
            </configuration>
            <elements>
                <element name="Star" positionX="-54" positionY="-9" width="128" height="74"/>
                <element name="Film" positionX="1" positionY="2" width="3" height="4"/>
            </elements>
        </model>
        """
}
